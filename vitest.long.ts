// Tests that take their time: faults of a fleet on real Redis servers, and calls in workerd. `pnpm unit` leaves them out.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-line.ts'],
    projects: ['packages/redis', 'tools/edge'].map((root) => ({
      root,
      test: {
        name: root,
        include: ['test/*.long.ts'],
        testTimeout: 60_000,
        hookTimeout: 60_000,
        maxConcurrency: 16,
      },
    })),
  },
})
