import { defineProject } from 'vitest/config'

export default defineProject({
  // real servers and real processes end when they end: a busy machine may need long
  // their tests mostly wait, so that many may run at once
  test: { testTimeout: 60_000, hookTimeout: 60_000, maxConcurrency: 16 },
})
