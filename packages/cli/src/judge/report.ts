import { styleText } from 'node:util'

import { printable } from '@tokenlane/core/adapter'

import { hanging, type TextStream, textWidth } from '../hanging.ts'
import type { Exam, Grade } from './exam.ts'
import type { SceneFinding, SceneReport } from './play-scene.ts'

type EntryLine = (entry: SceneFinding['evidence'][number]) => string

const colours: Readonly<Record<Grade, 'green' | 'yellow' | 'red'>> = {
  A: 'green',
  B: 'yellow',
  C: 'yellow',
  D: 'red',
  F: 'red',
}
const shownEvidence = 3

/** Returns an exam as readable text, at most 80 columns wide unless a word or a line of evidence is longer. */
export function examText(exam: Exam, entryLine: EntryLine, stream: TextStream): string {
  const columns = textWidth(stream)
  return [...exam.scenes.map((scene) => sceneText(scene)), gradeText(exam)].join('\n\n')

  function sceneText({ name, title, notGraded, findings, seen, output }: SceneReport): string {
    const isWrong = findings.some(isError)
    const mark = notGraded !== undefined ? '-' : isWrong ? '✗' : findings.length > 0 ? '!' : '✓'
    const head = `${mark} ${styleText('bold', name, { stream })}: ${title}`
    const count = `${plural(seen.calls, 'call')}, ${plural(seen.tokenRequests, 'token request')}`
    const lines = [head, `    ${count}`]
    if (notGraded !== undefined) lines.push(hanging('    ', `not graded: ${notGraded}`, 4, columns))
    if (output)
      lines.push('    its last output:', ...output.split('\n').map((line) => `      ${printable(line, 200)}`))
    return [...lines, ...findings.map((found) => findingText(found))].join('\n')
  }

  function findingText({ rule, severity, message, fix, evidence }: SceneFinding): string {
    const colour = severity === 'error' ? 'red' : 'yellow'
    return [
      // what colours a word has no width
      hanging('    ', `${severity} ${rule}: ${message}.`, 4, columns).replace(severity, (word) =>
        styleText(colour, word, { stream }),
      ),
      hanging('      fix: ', fix, 11, columns),
      ...evidence.slice(0, shownEvidence).map((entry) => `        ${entryLine(entry)}`),
    ].join('\n')
  }

  function gradeText({ grade, scenes, seed }: Exam): string {
    const graded = scenes.filter(({ notGraded }) => notGraded === undefined)
    const wrong = graded.filter(({ findings }) => findings.some(isError)).length
    const warned = graded.filter(({ findings }) => findings.length > 0).length - wrong
    if (grade === null) return 'No grade: no scene could be graded.'
    const head = styleText(colours[grade], `Grade ${grade}`, { stream })
    const left = scenes.length - graded.length
    const all = plural(graded.length, 'scene')
    const parts = [
      ...(wrong > 0 ? [`errors in ${wrong} of ${all}`] : []),
      ...(warned > 0 ? [wrong > 0 ? `only warnings in ${warned}` : `warnings in ${warned} of ${all}`] : []),
      ...(wrong + warned > 0 ? [] : ['no problems found', all]),
      ...(left > 0 ? [`${left} not graded`] : []),
      `seed ${seed}`,
    ]
    return `${head}: ${parts.join(', ')}.`
  }
}

const isError = ({ severity }: SceneFinding): boolean => severity === 'error'

function plural(count: number, one: string): string {
  return `${count.toLocaleString('en-US')} ${one}${count === 1 ? '' : 's'}`
}
