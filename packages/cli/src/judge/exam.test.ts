import { expect, test } from 'vitest'

import { gradeOf } from './exam.ts'
import type { SceneReport } from './play-scene.ts'

const finding = { rule: 'r', message: '', fix: '', evidence: [], count: 1 }

const report: SceneReport = {
  name: 'scene',
  title: '',
  ok: true,
  findings: [],
  seen: { calls: 1, tokenRequests: 1 },
  duration: 1,
}

const reportOf: Readonly<Record<string, SceneReport>> = {
  '+': report,
  '!': { ...report, ok: false, findings: [{ ...finding, severity: 'warning' }] },
  x: { ...report, ok: false, findings: [{ ...finding, severity: 'error' }] },
  '-': { ...report, ok: false, notGraded: 'too few' },
}

test.each([
  ['++++', 'A'],
  ['+---', 'A'],
  ['+++!', 'B'],
  ['+++x', 'C'],
  ['++x', 'D'],
  ['++xx', 'D'],
  ['+xx', 'F'],
  ['+x--', 'D'],
  ['----', null],
])('%s is %s', (marks, grade) => {
  expect(gradeOf(marks.split('').map((mark) => reportOf[mark] ?? report))).toBe(grade)
})
