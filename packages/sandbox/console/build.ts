// Builds the console page into console/dist: a few files, all served by the sandbox itself.
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

// in any other, elements are made with the path of their source
process.env['NODE_ENV'] = 'production'
await build({
  root: fileURLToPath(new URL('.', import.meta.url)),
  configFile: false,
  base: './',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // an inline script, which the page's policy forbids
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // whose code is copied wants its licence beside it
    license: { fileName: 'licenses.md' },
  },
})
