import { createRoot } from 'react-dom/client';
import { Navigate, RouterProvider, createBrowserRouter, type RouteObject } from 'react-router';
import { adminRoutes } from './admin';
import { Layout } from './pages/Layout';
import { Ticket } from './pages/Ticket';

const ORDER = 'orders/:id';

export const routes: RouteObject[] = [
  {
    path: '/',
    element: <Layout />,
    children: [
      { index: true, element: <Ticket />, handle: { title: 'Start' } },
      { path: 'orders', lazy: () => import('./pages/Ticket'), handle: { title: 'Orders' } },
      { path: ORDER, id: 'order', Component: Ticket },
      { path: 'old', element: <Navigate to="/orders" /> },
      { element: <Layout />, children: [{ path: 'about', element: <p>About</p> }] },
      { path: 'admin', children: adminRoutes },
      { path: 'files/*', element: <p /> },
      { path: '*', element: <p>Not found</p> },
    ],
  },
];

createRoot(document.body).render(<RouterProvider router={createBrowserRouter(routes)} />);
