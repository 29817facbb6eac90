import { accessSync, constants, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

import { WrongUsage } from '../exit-status.ts'

/** How a JUnit report begins, such as that of the last run. */
export const junit: RegExp = /^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?<testsuites?[\s>/]/
/** What a SARIF log has, at its beginning in each of its versions. */
export const sarif: RegExp = /^\uFEFF?\s*\{[^]*"runs"\s*:\s*\[/

/**
 * Returns what writes a report to a file.
 *
 * @param report what a file has that may be replaced.
 * @throws WrongUsage at once if the file cannot be written, or has anything but a report or nothing in it.
 */
export function reportFile(file: string, report: RegExp): (text: string) => void {
  const orRefuse = (act: () => void): void => {
    try {
      act()
    } catch (error) {
      throw new WrongUsage(`Cannot write ${file}: ${(error as NodeJS.ErrnoException).code}`)
    }
  }
  let text = ''
  orRefuse(() => {
    const found = statSync(file, { throwIfNoEntry: false })
    accessSync(found ? file : dirname(file), constants.W_OK)
    // a pipe or a terminal has nothing to lose
    if (found?.isFile() || found?.isDirectory()) text = readFileSync(file, 'utf8')
  })
  if (text.trim() !== '' && !report.test(text))
    throw new WrongUsage(`Cannot write ${file}: it exists and is not such a report; name a new file`)
  return (written) => orRefuse(() => writeFileSync(file, written))
}
