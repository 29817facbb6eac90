import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { WrongUsage } from '../exit-status.ts'

/** Whether a text is a JUnit report, such as that of the last run. */
export function isJunit(text: string): boolean {
  return /^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?<testsuites?[\s>/]/.test(text)
}

export function isSarif(text: string): boolean {
  try {
    const log = JSON.parse(text) as { version?: unknown; runs?: unknown } | null
    return typeof log?.version === 'string' && Array.isArray(log.runs)
  } catch {
    return false
  }
}

/**
 * Returns what writes a report to a file, at once and as a whole: until then the file stays as it is.
 *
 * @param isReport whether a text that the file has may be replaced.
 * @throws WrongUsage if the file cannot be written, or has anything but a report or nothing in it.
 */
export function reportFile(file: string, isReport: (text: string) => boolean): (text: string) => void {
  const inWords = (act: () => void): void => {
    try {
      act()
    } catch (error) {
      if (error instanceof WrongUsage) throw error
      throw new WrongUsage(`Cannot write ${file}: ${(error as NodeJS.ErrnoException).code}`)
    }
  }
  const found = statSync(file, { throwIfNoEntry: false })
  // a pipe or a terminal has nothing to lose
  if (found !== undefined && !found.isFile() && !found.isDirectory())
    return (text) => inWords(() => writeFileSync(file, text))
  let folder = ''
  inWords(() => {
    if (found !== undefined) mustBeReport(file, isReport)
    // in the folder of the file: a file cannot be renamed across file systems
    folder = mkdtempSync(join(dirname(file), '.tokenlane-judge-'))
    rmSync(folder, { recursive: true })
  })
  return (text) =>
    inWords(() => {
      folder = mkdtempSync(join(dirname(file), '.tokenlane-judge-'))
      try {
        const whole = join(folder, basename(file))
        writeFileSync(whole, text)
        renameSync(whole, file)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
}

function mustBeReport(file: string, isReport: (text: string) => boolean): void {
  const text = readFileSync(file, 'utf8')
  if (text.trim() !== '' && !isReport(text))
    throw new WrongUsage(`Cannot write ${file}: it exists and is not such a report; name a new file`)
}
