import { type Stats, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { has, own, refuse, refusingTo } from '../options/check.ts'
import { object, text } from '../options/reader.ts'
import { permissionFault } from '../runtime/permission.ts'
import { sharedStore, type StoreKey } from '../store/shared-store.ts'
import type { SharedStore, StoreClaim } from '../store/token-store.ts'
import { type EntryFile, EntryFiles } from './entry-files.ts'

/** Configures a token store on disk. */
export interface FileTokenStoreOptions {
  /**
   * Encrypts the tokens of clients with an assertion from outside, which have no secret to derive a key from: text of
   * 32 characters or more, such as the output of `openssl rand -base64 32`. If there are several, the first encrypts and
   * any of them can decrypt, so keys can be rotated. A function is called before each use of the store.
   *
   * @defaultValue none: such clients are refused at start-up
   */
  readonly key?: StoreKey | undefined
}

/** No lease lasts longer, in milliseconds: one that seems to is from before the clock was set back. */
const longestLease = 300_000
/** Each try that fails is one of another process that did not. */
const mostTries = 100

/**
 * Returns a store that keeps tokens in a folder on disk, for commands, jobs, test runs and processes that restart often.
 * Processes on this machine then share one token per issuer and client: those that start together make one token
 * request, and a process that is killed holds up the others for no longer than its lease, a few seconds.
 *
 * Tokens are encrypted with a key that only a holder of the client secret, or of `key`, can derive. Files have mode 0600.
 * A file that is damaged, or that belongs to another client, is reported (`store.failed`, `unreadable`) and replaced. The
 * folder may be removed at any time.
 *
 * @param folder Path of the folder, which is created when it is needed; a relative one is resolved against the current
 * working directory. It should be on a local disk.
 * @throws TokenlaneError `INVALID_OPTIONS`
 * @example
 * ```ts
 * const tokens = createTokenManager({ issuers, apis, store: fileTokenStore('/var/cache/orders') })
 * ```
 */
export function fileTokenStore(folder: string, options: FileTokenStoreOptions = {}): SharedStore {
  const { key } = refusingTo('create file token store', () => {
    text('the path of a folder')(folder, 'folder')
    if (statOf(folder)?.isDirectory() === false)
      refuse('folder', 'the path of a file', 'the path of a folder')
    // `sharedStore` checks the key
    return object<FileTokenStoreOptions>({ key: (given) => given as StoreKey })(options, 'options')
  })
  const root = resolve(folder)
  const filesOf = (name: string): EntryFiles => new EntryFiles(join(root, encodeURIComponent(name)))

  return sharedStore(
    {
      async claim(name, stale, lease): Promise<StoreClaim> {
        const files = filesOf(name)
        for (let tries = 0; tries < mostTries; tries += 1) {
          const { newest, last, found } = await lookAt(files)
          const now = Date.now()
          if (found !== undefined && found.until > now && found.entry !== stale)
            return { entry: found.entry, expiresIn: found.until - now }
          const lockedFor = last === undefined || has(last, 'entry') ? 0 : last.until - now
          if (lockedFor > 0 && lockedFor <= Math.max(lease, longestLease)) return 'locked'
          const next = newest + 1
          const fence = `${next}.${globalThis.crypto.randomUUID()}`
          if (!(await files.create(next, { fence, until: now + lease }))) continue
          // a process that was held up may have created a file that the others have left behind
          if ((await files.numbers())[0] === next) {
            await files.removeBelow(next, found?.number)
            return { fence }
          }
          await files.remove(next)
        }
        throw Object.assign(new Error('too many processes'), { code: 'EBUSY' })
      },
      write: (name, fence, entry, lifetime) =>
        settle(filesOf(name), fence, { entry, until: Date.now() + lifetime }),
      release: (name, fence, pause) => settle(filesOf(name), fence, { until: Date.now() + pause }),
      async drop(name, entry) {
        const files = filesOf(name)
        const { found } = await lookAt(files)
        if (found?.entry === entry) await files.replace(found.number, { until: 0 })
      },
    },
    { key },
  )
}

function statOf(folder: string): Stats | undefined {
  try {
    return statSync(folder, { throwIfNoEntry: false })
  } catch (error) {
    const why = permissionFault(error) ?? String((error as NodeJS.ErrnoException).code)
    return refuse('folder', `a path that cannot be read (${why})`, 'a folder that this process may use')
  }
}

/** Returns what the newest file holds, and the newest entry, which may be in a file before it. */
async function lookAt(files: EntryFiles) {
  const [newest = 0, ...before] = await files.numbers()
  const last = await files.read(newest)
  let held = last
  let number = newest
  for (const earlier of before) {
    if (held !== undefined && has(held, 'entry')) break
    held = await files.read(earlier)
    number = earlier
  }
  const found = held !== undefined && has(held, 'entry') ? { ...held, number } : undefined
  return { newest, last, found }
}

/** Writes to the file of a fence, if that is the right currently held. */
async function settle(files: EntryFiles, fence: string, held: EntryFile): Promise<void> {
  const [newest] = await files.numbers()
  if (newest === undefined || own(await files.read(newest), 'fence') !== fence) return
  await files.replace(newest, held)
  if (has(held, 'entry')) await files.removeBelow(newest)
}
