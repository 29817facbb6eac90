import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-line.ts'],
    projects: ['packages/*', 'examples/*', '!**/README.md', 'site'],
  },
})
