import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'

import { default as draft04 } from 'ajv-draft-04'
import { default as formats } from 'ajv-formats'
import { expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'

import type { Exam } from './exam.ts'
import { junitXml } from './junit.ts'
import { examText } from './report.ts'
import { sarifLog } from './sarif.ts'

const exam: Exam = {
  ok: false,
  grade: 'D',
  seed: 7,
  scenes: [
    {
      name: 'revocation',
      title: 'every token is revoked while calls are made',
      ok: false,
      findings: [
        {
          rule: 'rejected-token',
          severity: 'error',
          message: '3 calls brought <a> & "b"',
          fix: 'Drop it.',
          evidence: [],
          count: 3,
        },
        {
          rule: 'no-keep-alive',
          severity: 'warning',
          message: '5 requests',
          fix: 'Keep it.',
          evidence: [],
          count: 5,
        },
      ],
      seen: { calls: 1_000, tokenRequests: 1 },
      duration: 2_500,
    },
    {
      name: 'redirect',
      title: 'the general API redirects',
      ok: false,
      notGraded: 'the program ended by itself (by SIGSEGV) after 1 requests',
      findings: [],
      seen: { calls: 1, tokenRequests: 0 },
      duration: 500,
      output: 'one\u0007\u001B[31m\ntwo',
    },
    {
      name: 'expiry',
      title: 'tokens expire',
      ok: true,
      findings: [],
      seen: { calls: 20, tokenRequests: 2 },
      duration: 1_000,
    },
  ],
}

test('the page names what was found, what was not graded, and the grade', () => {
  const text = stripVTControlCharacters(examText(exam, ({ id }) => `entry ${id}`, process.stdout))
  expect(text).toBe(`✗ revocation: every token is revoked while calls are made
    1,000 calls, 1 token request
    error rejected-token: 3 calls brought <a> & "b".
      fix: Drop it.
    warning no-keep-alive: 5 requests.
      fix: Keep it.

- redirect: the general API redirects
    1 call, 0 token requests
    not graded: the program ended by itself (by SIGSEGV) after 1 requests
    its last output:
      one [31m
      two

✓ expiry: tokens expire
    20 calls, 2 token requests

Grade D: errors in 1 of 2 scenes, 1 not graded, seed 7.`)
})

test.each([
  [['error', 'warning', 'none'], 'errors in 1 of 3 scenes, only warnings in 1'],
  [['warning', 'none'], 'warnings in 1 of 2 scenes'],
  [['none'], 'no problems found, 1 scene'],
])('of scenes with %j the last line says: %s', (worst, said) => {
  const [scene] = exam.scenes
  const scenes = worst.map((each) => ({
    ...scene!,
    findings: scene!.findings.filter(({ severity }) => severity === each),
  }))
  const text = stripVTControlCharacters(examText({ ...exam, scenes }, () => '', process.stdout))
  expect(text.split('\n').at(-1)).toBe(`Grade D: ${said}, seed 7.`)
})

test('the JUnit report has what both schemas require, and nothing that either refuses', () => {
  expect(junitXml(exam, new Date('2026-01-02T03:04:05.678Z'))).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite package="tokenlane" id="0" name="tokenlane judge" timestamp="2026-01-02T03:04:05" hostname="localhost" tests="3" failures="1" errors="0" skipped="1" time="4.000">
    <properties>
      <property name="grade" value="D"/>
      <property name="seed" value="7"/>
    </properties>
    <testcase name="revocation" classname="tokenlane.judge" time="2.500">
      <failure message="rejected-token: 3 calls brought &lt;a&gt; &amp; &quot;b&quot;; no-keep-alive: 5 requests" type="rejected-token">error rejected-token: 3 calls brought &lt;a&gt; &amp; &quot;b&quot;. Drop it.
warning no-keep-alive: 5 requests. Keep it.</failure>
    </testcase>
    <testcase name="redirect" classname="tokenlane.judge" time="0.500">
      <skipped message="the program ended by itself (by SIGSEGV) after 1 requests"/>
    </testcase>
    <testcase name="expiry" classname="tokenlane.judge" time="1.000"/>
    <system-out/>
    <system-err/>
  </testsuite>
</testsuites>
`)
})

test('the SARIF log has a rule and a result for each finding, at the file that the command names', () => {
  const log = sarifLog(exam, ['node', 'package.json'])
  expect(log).toMatchObject({
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { rules: [{ id: 'rejected-token' }, { id: 'no-keep-alive' }] } },
        results: [
          {
            ruleId: 'rejected-token',
            ruleIndex: 0,
            level: 'error',
            message: { text: 'revocation: 3 calls brought <a> & "b". Drop it.' },
            locations: [
              { physicalLocation: { artifactLocation: { uri: 'package.json' }, region: { startLine: 1 } } },
            ],
          },
          { ruleId: 'no-keep-alive', ruleIndex: 1, level: 'warning' },
        ],
      },
    ],
  })
  expect(JSON.stringify(sarifLog(exam, ['true']))).not.toContain('locations')
})

const schema = (name: string): string =>
  readFileSync(new URL(`../../test/schemas/${name}`, import.meta.url), 'utf8')

test("the JUnit report is valid by Jenkins' schema, and a wrong one is not", async () => {
  const contents = junitXml(exam, new Date('2026-01-02T03:04:05.678Z'))
  const validate = (text: string) =>
    validateXML({ xml: [{ fileName: 'report.xml', contents: text }], schema: [schema('junit-10.xsd')] })
  expect(await validate(contents)).toMatchObject({ valid: true, errors: [] })
  expect(await validate(contents.replaceAll('testcase', 'case'))).toMatchObject({ valid: false })
})

test("the SARIF report is valid by OASIS' schema, and a wrong one is not", () => {
  const validate = formats
    .default(new draft04.default({ strict: false }))
    .compile(JSON.parse(schema('sarif-2.1.0.json')) as object)
  const log: unknown = JSON.parse(JSON.stringify(sarifLog(exam, ['true'])))
  expect([validate(log), validate.errors]).toEqual([true, null])
  expect(validate({ ...(log as object), version: '2.0.0' })).toBe(false)
})
