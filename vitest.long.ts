// Tests that take their time, with real Redis servers, a real Prometheus, workerd and the command. `pnpm unit` leaves them
// out.
import { defineConfig } from 'vitest/config'
import { findValkeyServer } from './tools/testing/src/redis-server.ts'

/** They start servers and processes, and mostly wait. */
const patience = { testTimeout: 60_000, hookTimeout: 60_000, maxConcurrency: 16 }

/** The tests of `@tokenlane/redis` once more, with Valkey where `scripts/valkey.ts` has found one. */
const onValkey = {
  root: 'packages/redis',
  test: {
    name: 'packages/redis on Valkey',
    include: [
      'src/redis-token-store.test.ts',
      'test/{contracts,limiter,limiter-cluster,limiter-script,server-facts,wake-up}.test.ts',
      'test/simulation/differential.test.ts',
    ],
    env: { TOKENLANE_TEST_SERVER: 'valkey' },
    ...patience,
  },
}

export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-line.ts'],
    projects: [
      ...['packages/redis', 'packages/cli', 'packages/otel', 'tools/edge'].map((root) => ({
        root,
        test: { name: root, include: ['test/*.long.ts'], ...patience },
      })),
      ...(findValkeyServer() === undefined ? [] : [onValkey]),
    ],
  },
})
