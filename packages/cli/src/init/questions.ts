import { createInterface, type Interface } from 'node:readline/promises'

import { printable } from '@tokenlane/core/adapter'

import { CannotLook } from '../exit-status.ts'

export interface Questions {
  /** Returns whether the answer begins with `y`. An empty one means no. */
  confirm(question: string): Promise<boolean>
  /** Returns an answer that `isRight` accepts, or `usual` for an empty one. @throws CannotLook after three wrong ones. */
  ask(question: string, usual: string, isRight?: (answer: string) => boolean): Promise<string>
  close(): void
}

/** Wrong answers to one question before it is given up. */
const tries = 3

/** Asks through two streams, usually those of the process. */
export function questionsThrough(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Questions {
  const lines: Interface = createInterface({ input, output })
  const end = new AbortController()
  lines.once('close', () => end.abort())
  const answerTo = async (question: string): Promise<string> => {
    try {
      return printable(await lines.question(`${question} `, { signal: end.signal }), 2_000)
    } catch {
      throw new CannotLook('The input ended without an answer: nothing was written')
    }
  }
  return {
    confirm: async (question) => /^y/i.test(await answerTo(`${question} [y/N]`)),
    async ask(question, usual, isRight = () => true) {
      for (let left = tries; left > 0; left -= 1) {
        const answer = (await answerTo(usual === '' ? question : `${question} [${usual}]`)) || usual
        if (isRight(answer)) return answer
      }
      throw new CannotLook(`No usable answer in ${tries} tries: nothing was written`)
    },
    close: () => lines.close(),
  }
}
