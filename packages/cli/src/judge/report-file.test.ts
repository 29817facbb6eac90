import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { WrongUsage } from '../exit-status.ts'
import { isJunit, isSarif, reportFile } from './report-file.ts'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'report-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const junit = '<?xml version="1.0"?>\n<testsuites name="tokenlane judge"></testsuites>'
const sarif = JSON.stringify({ version: '2.1.0', runs: [] })

test.each([
  ['the judged program', 'console.log("program")', isJunit],
  ['another XML file', '<project></project>', isJunit],
  ['a log of SARIF, where a JUnit report goes', sarif, isJunit],
  ['package.json', '{"version":"1.0.0"}', isSarif],
  ['a JSON array', '[]', isSarif],
  ['null', 'null', isSarif],
  ['a JUnit report, where a log goes', junit, isSarif],
])('%s is refused at the start, and stays as it is', (_, text, isReport) => {
  const file = join(folder, 'file')
  writeFileSync(file, text)
  expect(() => reportFile(file, isReport)).toThrow(WrongUsage)
  expect(readFileSync(file, 'utf8')).toBe(text)
})

test.each([
  ['no file', undefined, isJunit],
  ['an empty file', '', isJunit],
  ['the last report', junit, isJunit],
  ['the last log', sarif, isSarif],
])('%s is replaced at the end only, as a whole', (_, text, isReport) => {
  const file = join(folder, 'file')
  if (text !== undefined) writeFileSync(file, text)
  // a reader of the old report keeps it
  if (text !== undefined) linkSync(file, join(folder, 'link'))
  const write = reportFile(file, isReport)
  const before = readdirSync(folder)
  expect(before).toEqual(text === undefined ? [] : ['file', 'link'])
  write('new')
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(readdirSync(folder)).toEqual(text === undefined ? ['file'] : ['file', 'link'])
})

test('a folder, and a file in a folder that is not there, are refused at the start', () => {
  mkdirSync(join(folder, 'folder'))
  expect(() => reportFile(join(folder, 'folder'), isJunit)).toThrow('EISDIR')
  expect(() => reportFile(join(folder, 'none', 'file'), isJunit)).toThrow('ENOENT')
})

test('a link to a file that is no report is refused', () => {
  writeFileSync(join(folder, 'program.mjs'), 'console.log("program")')
  symlinkSync('program.mjs', join(folder, 'report.xml'))
  expect(() => reportFile(join(folder, 'report.xml'), isJunit)).toThrow('not such a report')
})
