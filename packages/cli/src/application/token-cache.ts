import { homedir } from 'node:os'
import { join } from 'node:path'

import { storeOfTool } from '@tokenlane/core/adapter'
import { fileTokenStore } from '@tokenlane/core/node'

/** Makes token managers without a store of their own keep their tokens on disk; returns what ends that. */
export function useTokenCache(home: () => string = homedir): () => void {
  const tool = globalThis as { [storeOfTool]?: unknown }
  try {
    tool[storeOfTool] = fileTokenStore(cacheFolder(process.platform, process.env, home))
  } catch (error) {
    // a container whose user has no home
    console.error(`No folder for --cache: ${(error as Error).message}. Set HOME`)
  }
  return () => delete tool[storeOfTool]
}

/** Returns where the user's applications cache what they can get again: `tokenlane` in that folder. */
export function cacheFolder(
  platform: NodeJS.Platform,
  env: NodeJS.ProcessEnv,
  home: () => string = homedir,
): string {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = env
  if (platform === 'win32') return join(LOCALAPPDATA || join(home(), 'AppData', 'Local'), 'tokenlane')
  if (platform === 'darwin') return join(home(), 'Library', 'Caches', 'tokenlane')
  return join(XDG_CACHE_HOME || join(home(), '.cache'), 'tokenlane')
}
