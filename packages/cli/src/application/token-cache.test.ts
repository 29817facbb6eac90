import { homedir } from 'node:os'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { cacheFolder, useTokenCache } from './token-cache.ts'

test.each([
  ['linux', { XDG_CACHE_HOME: '/cache' }, join('/cache', 'tokenlane')],
  ['linux', { XDG_CACHE_HOME: '' }, join(homedir(), '.cache', 'tokenlane')],
  ['darwin', {}, join(homedir(), 'Library', 'Caches', 'tokenlane')],
  ['win32', { LOCALAPPDATA: '/local' }, join('/local', 'tokenlane')],
  ['win32', {}, join(homedir(), 'AppData', 'Local', 'tokenlane')],
] as const)('on %s with %j, tokens are cached in %s', (platform, env, folder) => {
  expect(cacheFolder(platform, env)).toBe(folder)
})

test('a user of a container without a home folder goes without the cache, and is told why', () => {
  const said = vi.spyOn(console, 'error').mockReturnValue()
  vi.stubEnv('XDG_CACHE_HOME', '')
  vi.stubEnv('LOCALAPPDATA', '')
  useTokenCache(() => {
    throw new Error('uv_os_homedir returned ENOENT (no such file or directory)')
  })()
  expect(said).toHaveBeenCalledExactlyOnceWith(
    'No folder for --cache: uv_os_homedir returned ENOENT (no such file or directory). Set HOME',
  )
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})
