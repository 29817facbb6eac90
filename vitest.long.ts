// Tests that take their time, with real Redis servers, a real Prometheus, workerd and the command. `pnpm unit` leaves them
// out.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-line.ts'],
    projects: ['packages/redis', 'packages/cli', 'packages/otel', 'tools/edge'].map((root) => ({
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
