import { didYouMean } from '@tokenlane/core/adapter'

import { exitStatus, WrongUsage } from '../exit-status.ts'
import { examine, hasCalled, type Exam } from '../judge/exam.ts'
import { junitXml } from '../judge/junit.ts'
import type { PlayOptions } from '../judge/play-scene.ts'
import { examText } from '../judge/report.ts'
import { junit, reportFile, sarif } from '../judge/report-file.ts'
import { sarifLog } from '../judge/sarif.ts'
import { type Scene, scenes } from '../judge/scenes.ts'
import { print } from '../print.ts'

export interface JudgeOptions {
  /** Names of scenes; all unless given. */
  readonly scene?: readonly string[]
  readonly json?: true
  readonly junit?: string
  readonly sarif?: string
  readonly seed: number
  readonly authentication: PlayOptions['authentication']
}

export async function judge(command: readonly string[], options: JudgeOptions): Promise<number> {
  const { scene: names, json, seed, authentication } = options
  const chosen = chooseScenes(names)
  // what cannot be written is better known before minutes of work
  const writeJunit = options.junit === undefined ? undefined : reportFile(options.junit, junit)
  const writeSarif = options.sarif === undefined ? undefined : reportFile(options.sarif, sarif)
  const exam = await withSignals(() =>
    examine(chosen, { command, seed, authentication }, ({ name, notGraded, findings }) => {
      const rules = findings.map(({ rule }) => rule).join(', ')
      console.error(
        `${name}: ${notGraded === undefined ? rules || 'no findings' : `not graded, ${notGraded}`}`,
      )
    }),
  )
  writeJunit?.(junitXml(exam, new Date()))
  writeSarif?.(JSON.stringify(sarifLog(exam, command), null, 2))
  const { entryLine } = await import('@tokenlane/sandbox')
  print(json ? JSON.stringify(exam) : `\n${examText(exam, entryLine, process.stdout)}`)
  return statusOf(exam)
}

function statusOf({ ok, scenes: reports }: Exam): number {
  if (!hasCalled(reports)) return exitStatus.couldNotLook
  return ok ? exitStatus.fine : exitStatus.findings
}

function chooseScenes(names: readonly string[] | undefined): readonly Scene[] {
  const known = scenes.map(({ name }) => name)
  const wrong = names?.filter((name) => !known.includes(name)) ?? []
  if (wrong.length > 0)
    throw new WrongUsage(
      `${wrong.map((name) => `No scene is called ${name}${didYouMean(name, known)}`).join('\n')}\nScenes: ${known.join(', ')}`,
    )
  return names === undefined ? scenes : scenes.filter(({ name }) => names.includes(name))
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
const end = (_: NodeJS.Signals, number: number): never => process.exit(128 + number)

/** Lets a signal end this process by `exit`, whose listeners end the program and remove the files. */
async function withSignals<Result>(work: () => Promise<Result>): Promise<Result> {
  for (const name of signals) process.on(name, end)
  try {
    return await work()
  } finally {
    for (const name of signals) process.off(name, end)
  }
}
