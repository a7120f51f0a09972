// A realistic example of each built-in component.

const DAY = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

export const samples = {
  card: {
    title: 'Order 1042',
    subtitle: 'Placed by Ada Lovelace on 3 March 2026',
    text: 'Paid by card. The parcel left the warehouse in Rotterdam this morning and arrives tomorrow.',
    image: { url: '/image.svg', alt: 'A parcel' },
    fields: [
      { label: 'Status', value: 'On its way' },
      { label: 'Items', value: '3' },
      { label: 'Total', value: '€ 214.90' },
    ],
    link: { label: 'Track the parcel', url: 'https://parcels.example/1042' },
  },
  stat: {
    items: [
      { label: 'Revenue', value: '48,210', unit: '€', change: '+4.2 % since May', trend: 'up' },
      { label: 'Orders', value: '1,204', change: '−1.1 % since May', trend: 'down' },
      { label: 'Average basket', value: '40.04', unit: '€', change: 'as in May', trend: 'flat' },
      { label: 'Returns', value: '2.3', unit: '%' },
    ],
  },
  table: {
    title: 'Sales by region',
    columns: [
      { label: 'Region' },
      { label: 'Revenue (€)', kind: 'number' },
      { label: 'Orders', kind: 'number' },
      { label: 'Last order', kind: 'date' },
      { label: 'Report', kind: 'link' },
    ],
    rows: [
      ['North', 18200.5, 410, '2026-06-28', 'https://reports.example/north'],
      ['South', 9120, 233, '2026-06-30', 'https://reports.example/south'],
      ['East', 12850.25, null, '2026-05-11', '/reports/east'],
      ['West', 8039.75, 240, '2026-06-02', '/reports/west'],
    ],
    selectable: true,
  },
  chart: {
    title: 'Visitors by weekday',
    kind: 'bar',
    labels: DAY,
    series: [
      { name: 'This week', values: [320, 410, 385, 502, 610, 280, 190] },
      { name: 'Last week', values: [290, 380, 402, 455, 540, 310, 205] },
    ],
    unit: 'visits',
  },
  list: {
    title: 'Before you leave',
    ordered: true,
    items: [
      { text: 'Check in online', detail: 'Opens 24 hours before departure' },
      { text: 'Print the visa', url: 'https://visa.example/form' },
      { text: 'Pack the adapter', detail: 'Type G' },
    ],
  },
  form: {
    title: 'Book a table',
    fields: [
      { name: 'name', label: 'Name', kind: 'text', required: true },
      { name: 'email', label: 'Email', kind: 'email', required: true, value: 'ada@example.com' },
      { name: 'guests', label: 'Guests', kind: 'number', required: true, value: '4' },
      { name: 'date', label: 'Date', kind: 'date', value: '2026-07-04' },
      { name: 'area', label: 'Area', kind: 'select', options: ['Inside', 'Terrace'], value: 'Terrace' },
      { name: 'notes', label: 'Notes', kind: 'long-text' },
      { name: 'remind', label: 'Send a reminder', kind: 'checkbox', value: 'true' },
    ],
    submit: 'Book',
  },
  choices: {
    question: 'Which flight do you want?',
    options: [
      { id: 'am', label: '08:10 – 11:35', detail: 'Direct, € 189' },
      { id: 'noon', label: '12:40 – 17:05', detail: 'One stop in Lyon, € 132' },
      { id: 'pm', label: '19:20 – 22:40', detail: 'Direct, € 164' },
    ],
  },
  image: { url: '/image.svg', alt: 'The harbour at dusk', caption: 'The harbour at dusk, June 2026' },
  progress: {
    title: 'Moving the database',
    percent: 62,
    steps: [
      { label: 'Copy the tables', status: 'done' },
      { label: 'Build the indices', status: 'active' },
      { label: 'Check the foreign keys', status: 'failed' },
      { label: 'Switch over', status: 'pending' },
    ],
  },
  timeline: {
    title: 'Incident 77',
    events: [
      { time: '2026-06-28T09:12:00Z', title: 'Errors rise', detail: 'One in ten requests to the checkout fails.' },
      { time: '09:20', title: 'Rollback starts' },
      { time: '2026-06-28', title: 'Closed', detail: 'A missing index was the cause.' },
    ],
  },
  code: {
    language: 'rust',
    title: 'main.rs',
    code: 'fn main() {\n    let total: f64 = rows.iter().map(|row| row.amount).sum();\n    println!("{total:.2}");\n}\n',
  },
  stack: {
    direction: 'row',
    children: [
      {
        component: 'stat',
        props: { items: [{ label: 'Open tickets', value: '17', change: '3 more than yesterday', trend: 'up' }] },
      },
      {
        component: 'chart',
        props: {
          title: 'Tickets',
          kind: 'line',
          labels: DAY,
          series: [{ name: 'New', values: [4, 6, 3, 8, 5, 2, 1] }],
        },
      },
      {
        component: 'stack',
        props: {
          children: [
            {
              component: 'list',
              props: { items: [{ text: 'Printer on floor 3' }, { text: 'VPN for the new hires' }] },
            },
            { component: 'progress', props: { percent: 40 } },
          ],
        },
      },
    ],
  },
};

const values = [12, 19, 8, -5, 3, null, 14];

/** More examples, by component and variant. */
export const variants = {
  'chart line': { ...samples.chart, kind: 'line' },
  'chart area': { title: 'Stock', kind: 'area', labels: DAY, series: [{ name: 'Level', values }], unit: 't' },
  'chart pie': {
    title: 'Share of revenue',
    kind: 'pie',
    labels: ['North', 'South', 'East', 'West'],
    series: [{ name: 'Revenue', values: [18200, 9120, 12850, 8040] }],
    unit: '€',
  },
  'chart spark': {
    title: 'Load',
    kind: 'spark',
    labels: DAY,
    series: [
      { name: 'CPU', values: [20, 35, 31, 60, 52, 40, 44] },
      { name: 'Memory', values: [50, 51, 55, 54, 58, 61, 63] },
    ],
    unit: '%',
  },
  'choices multiple': { ...samples.choices, question: 'Which days suit you?', multiple: true },
};
