import { Route, Routes, createRoutesFromElements } from 'react-router';

export const adminRoutes = [
  { path: 'users', element: <p>Users</p>, handle: { title: 'Users' } },
  ...createRoutesFromElements(
    <>
      <Route path="groups" element={<p />} handle={{ title: 'Groups' }}>
        <Route index element={<p />} />
        <Route path=":group/edit" element={<p />} />
      </Route>
    </>,
  ),
];

/** A comment with a <Route path="/not-a-route"> and a string: */
export const text = "createBrowserRouter([{ path: '/nor-this', element: 1 }])";

export const Help = () => (
  <Routes>
    <Route path="/help/:topic?" element={<p />} />
  </Routes>
);
