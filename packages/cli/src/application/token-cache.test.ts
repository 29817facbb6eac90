import { homedir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { cacheFolder } from './token-cache.ts'

test.each([
  ['linux', { XDG_CACHE_HOME: '/cache' }, join('/cache', 'tokenlane')],
  ['linux', { XDG_CACHE_HOME: '' }, join(homedir(), '.cache', 'tokenlane')],
  ['darwin', {}, join(homedir(), 'Library', 'Caches', 'tokenlane')],
  ['win32', { LOCALAPPDATA: '/local' }, join('/local', 'tokenlane')],
  ['win32', {}, join(homedir(), 'AppData', 'Local', 'tokenlane')],
] as const)('on %s with %j, tokens are cached in %s', (platform, env, folder) => {
  expect(cacheFolder(platform, env)).toBe(folder)
})
