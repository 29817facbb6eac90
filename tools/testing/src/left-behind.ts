import { afterAll, expect, vi } from 'vitest'

const watched = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'fetch'] as const
const key = Symbol.for('tokenlane.tests.globals')

// Files that share a process load this again each time; the first of them found the globals as Node made them.
const found = globalThis as { [key]?: Record<string, unknown> }
const originals = (found[key] ??= Object.fromEntries(watched.map((name) => [name, globalThis[name]])))

afterAll(() => {
  // vitest does this between two files, also for spies whose `mockRestore` was called
  vi.restoreAllMocks()
  const changed = watched.filter((name) => globalThis[name] !== originals[name])
  Object.assign(globalThis, originals)
  expect(changed, 'globals that this file leaves behind for the next one').toEqual([])
})
