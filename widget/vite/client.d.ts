// The type of the manifest in an application: `/// <reference types="omniassist-client/vite/client" />`.

declare module 'virtual:omniassist' {
  const manifest: import('omniassist-client/vite').Manifest;
  export default manifest;
}
