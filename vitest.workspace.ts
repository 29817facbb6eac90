import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // by default one core is left idle: with two of them, that is half
    maxWorkers: '100%',
    reporters: ['default', './scripts/closing-line.ts'],
    projects: ['packages/*', 'tools/*', 'examples/*', '!**/README.md', 'site'],
  },
})
