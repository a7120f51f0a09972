/** The component `table` of the server. Its rows arrive one after the other. */
export function Table({ status, parameters = {}, result }) {
  const { title, columns = [], rows = [] } = parameters;
  const cells = (row) => (Array.isArray(row) ? row : []).map((cell, at) => <td key={at}>{String(cell ?? '')}</td>);
  return (
    <table className="grown" data-tool-name="ui_table" data-tool-state={status} data-result={result}>
      <caption>{title}</caption>
      <thead><tr>{columns.map((column, at) => <th key={at} scope="col">{column?.label}</th>)}</tr></thead>
      <tbody>{rows.map((row, at) => <tr key={at}>{cells(row)}</tr>)}</tbody>
    </table>
  );
}
