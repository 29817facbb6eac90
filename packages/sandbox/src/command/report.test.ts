import { expect, test } from 'vitest'

import { callApi, tokenOf } from '../../test/client.ts'
import { startSandbox } from '../start-sandbox.ts'
import { markdownReport } from './report.ts'

test('a report has the counts, and each finding with its fix and its evidence, without a token or a secret', async () => {
  await using sandbox = await startSandbox()
  const token = await tokenOf(sandbox, 'general')
  await callApi(sandbox, 'general', { token })
  await callApi(sandbox, 'general', {})
  const report = markdownReport(sandbox.control)
  expect(report).toMatch(/^# Sandbox report\n\n2 errors, 0 warnings\.\n\n\| issuer \|/)
  expect(report).toContain('| general | 1 | 1 | 0 | 0 |\n')
  expect(report).toContain('| general | 2 | 1 | 1 | 0 | 0 | 1 |\n')
  expect(report).toMatch(
    /\n## error: missing-token \(1\)\n\n.+\.\n\n\*\*Fix:\*\* .+\n\n {4}3 {2}[\d:.]+ {2}general-api {2}GET /,
  )
  for (const secret of [token, sandbox.credentials.general.clientSecret]) expect(report).not.toContain(secret)
})

test('a report of a run without a mistake says so, and one without a request', async () => {
  await using sandbox = await startSandbox()
  expect(markdownReport(sandbox.control)).toContain('\n\nNo request arrived.\n\n')
  await callApi(sandbox, 'general', { token: await tokenOf(sandbox, 'general') })
  expect(markdownReport(sandbox.control)).toContain('\n\nNo problems found.\n\n')
  sandbox.control.clearJournal()
  expect(markdownReport(sandbox.control)).toContain(
    '\n\nNo request arrived since the journal was cleared.\n\n',
  )
})
