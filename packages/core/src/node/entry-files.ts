import fs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isRecord } from '../options/check.ts'

/** What a file holds: an entry, or the right to write one, of the process with this `fence` if there is one. */
export type EntryFile = {
  /** Until when the entry lives or the right is held, on the wall clock in milliseconds. */
  readonly until: number
} & ({ readonly entry: string } | { readonly fence?: string })

/** A file that cannot be read and is younger, in milliseconds, is one that a process has only just created. */
const stillWritten = 1_000
/** No entry of a token store is longer, in bytes. */
const longestFile = 1_000_000

/**
 * The numbered files of one name. The highest number counts, and only the process that created a file writes to it: so
 * creating a file that does not exist yet is the only step that processes compete for.
 */
export class EntryFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async numbers(): Promise<number[]> {
    const names = await ifThere(() => patiently(() => fs.readdir(this.#folder)))
    return (names ?? [])
      .filter((name) => /^\d{1,15}$/.test(name))
      .map(Number)
      .toSorted((a, b) => b - a)
  }

  /** Returns what a file holds, an empty entry if it was not written by a token store; `undefined` without the file. */
  async read(number: number): Promise<EntryFile | undefined> {
    const path = this.#path(number)
    const seen = await ifThere(() => patiently(() => fs.stat(path)))
    if (seen === undefined) return undefined
    // reading a pipe would wait for who writes to it
    const isReadable = seen.isFile() && seen.size <= longestFile
    const text = isReadable ? await ifThere(() => patiently(() => fs.readFile(path, 'utf8'))) : ''
    if (text === undefined) return undefined
    const held = entryFileIn(text)
    if (held !== undefined) return held
    const isYoung = Math.abs(Date.now() - seen.mtimeMs) < stillWritten
    return isYoung ? { until: seen.mtimeMs + stillWritten } : { until: Infinity, entry: '' }
  }

  /** Creates a file, and returns whether this process did. */
  async create(number: number, held: EntryFile): Promise<boolean> {
    await makeFolder(this.#folder)
    try {
      await this.#write(this.#path(number), held)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
  }

  /** Replaces what a file holds, at once as a whole; does nothing if a higher number has made it needless. */
  async replace(number: number, held: EntryFile): Promise<void> {
    const draft = this.#path(`${number}.${globalThis.crypto.randomUUID()}`)
    await ifThere(async () => {
      await this.#write(draft, held)
      await patiently(() => fs.rename(draft, this.#path(number)))
    })
  }

  /** Removes all files below `number` except `kept`, and what processes left behind that were killed while writing. */
  async removeBelow(number: number, kept?: number): Promise<void> {
    for (const name of await fs.readdir(this.#folder))
      if (Number.parseInt(name, 10) < number && name !== `${kept}`) await this.remove(name)
  }

  async remove(name: number | string): Promise<void> {
    await fs.rm(this.#path(name), { force: true, recursive: true, maxRetries: 5 })
  }

  #path(name: number | string): string {
    return join(this.#folder, `${name}`)
  }

  async #write(path: string, held: EntryFile): Promise<void> {
    const file = await patiently(() => fs.open(path, 'wx', 0o600))
    try {
      await file.writeFile(JSON.stringify(held))
    } catch (error) {
      // a full disk: half a file would keep other processes waiting
      await fs.rm(path, { force: true })
      throw error
    } finally {
      await file.close()
    }
  }
}

function entryFileIn(text: string): EntryFile | undefined {
  let held: unknown
  try {
    held = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(held) || typeof held['until'] !== 'number') return undefined
  const { until, entry, fence } = held
  if (entry !== undefined) return typeof entry === 'string' ? { until, entry } : undefined
  return typeof fence === 'string' ? { until, fence } : { until }
}

/** Creates a folder and those above it. Node's own `recursive` never ends where the system creates none, as in /proc. */
async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path)
  } catch (error) {
    const above = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error
    await makeFolder(above)
    await makeOne(path)
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await fs.mkdir(path, { mode: 0o700 })
  } catch (error) {
    // another process may have made it meanwhile
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

async function ifThere<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Windows refuses a file for as long as another process, such as a virus scanner, looks at it. */
async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1)
    try {
      return await act()
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      const passes = process.platform === 'win32' && ['EPERM', 'EACCES', 'EBUSY'].includes(code)
      if (!passes || tries === 10) throw error
      await delay(10 * tries)
    }
}
