export const Layout = () => <main />;
