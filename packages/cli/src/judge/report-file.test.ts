import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { WrongUsage } from '../exit-status.ts'
import { junit, reportFile, sarif } from './report-file.ts'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'report-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const junitReport = '<?xml version="1.0"?>\n<testsuites name="tokenlane judge"></testsuites>'
const sarifLog = JSON.stringify({ version: '2.1.0', runs: [] })

test.each([
  ['the judged program', 'console.log("program")', junit],
  ['another XML file', '<project></project>', junit],
  ['a log of SARIF, where a JUnit report goes', sarifLog, junit],
  ['package.json', '{"version":"1.0.0"}', sarif],
  ['a JSON array', '[]', sarif],
  ['null', 'null', sarif],
  ['a JUnit report, where a log goes', junitReport, sarif],
])('%s is refused at the start, and stays as it is', (_, text, report) => {
  const file = join(folder, 'file')
  writeFileSync(file, text)
  expect(() => reportFile(file, report)).toThrow(WrongUsage)
  expect(readFileSync(file, 'utf8')).toBe(text)
})

test.each([
  ['no file', undefined, junit],
  ['an empty file', '', junit],
  ['the last report', junitReport, junit],
  ['the last log', sarifLog, sarif],
])('%s is replaced at the end only', (_, text, report) => {
  const file = join(folder, 'file')
  if (text !== undefined) writeFileSync(file, text)
  const write = reportFile(file, report)
  expect(existsSync(file) ? readFileSync(file, 'utf8') : undefined).toBe(text)
  write('new')
  expect(readFileSync(file, 'utf8')).toBe('new')
})

test('a folder, and a file in a folder that is not there, are refused at the start', () => {
  mkdirSync(join(folder, 'folder'))
  expect(() => reportFile(join(folder, 'folder'), junit)).toThrow('EISDIR')
  expect(() => reportFile(join(folder, 'none', 'file'), junit)).toThrow('ENOENT')
})

test('a link to a file that is no report is refused', () => {
  writeFileSync(join(folder, 'program.mjs'), 'console.log("program")')
  symlinkSync('program.mjs', join(folder, 'report.xml'))
  expect(() => reportFile(join(folder, 'report.xml'), junit)).toThrow('not such a report')
})
