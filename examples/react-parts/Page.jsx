import { useEffect, useState } from 'react';

export const PAGES = { orders: 'Orders', customers: 'Customers', tickets: 'Tickets', 'new-ticket': 'New ticket' };

const COLUMNS = {
  orders: ['id', 'customer', 'item', 'total', 'status'],
  customers: ['name', 'email', 'city', 'orders'],
  tickets: ['id', 'subject', 'priority', 'status'],
};

/** A table of the back office. It is loaded again when `turn` changes. */
export function Page({ name, turn }) {
  const [shown, setShown] = useState({ name, rows: [] });
  useEffect(() => {
    const abort = new AbortController();
    fetch(`/api/${name}`, { signal: abort.signal })
      .then((response) => (response.ok ? response.json() : Promise.reject(response)))
      .then((rows) => setShown({ name, rows }))
      // The rows of before stay.
      .catch(() => abort.signal.aborted || setShown((before) => ({ ...before, failed: true })));
    return () => abort.abort();
  }, [name, turn]);

  const columns = COLUMNS[shown.name];
  return (
    <div className="table">
      {shown.failed && <p className="failure" role="alert">The server does not answer.</p>}
      <table>
        <caption>{PAGES[shown.name]}</caption>
        <thead>
          <tr>{columns.map((column) => <th key={column} scope="col">{column}</th>)}</tr>
        </thead>
        <tbody>
          {shown.rows.map((row) => (
            <tr key={row.id}>{columns.map((column) => <td key={column}>{row[column]}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
