import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { fakeApi } from '../test/external/browser/invented-deployment/fake-api-plugin.ts'

export default defineConfig({
  // Relative addresses: the server writes the base path into <base> when it hands out the page.
  base: './',
  plugins: [react(), tailwindcss(), fakeApi()],
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    // Without inlined assets and the preload polyfill the page runs under `default-src 'self'`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    cssTarget: 'chrome123',
  },
})
