import { defineConfig } from 'vitest/config'

// `pnpm unit` uses all cores: a setting here would not reach projects with a configuration of their own.
export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-line.ts'],
    projects: ['packages/*', 'tools/*', 'examples/*', '!**/README.md', 'site'],
  },
})
