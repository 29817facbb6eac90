import { writeSync } from 'node:fs'
import { Writable } from 'node:stream'

import { columnsOf, hanging } from './hanging.ts'
import { handedOver } from './own-process.ts'

/** Where the result of the command goes: standard output, which nothing else writes to. */
export const output: Writable & { readonly isTTY?: boolean; readonly columns?: number } =
  handedOver?.output === undefined ? process.stdout : writableTo(handedOver.output)

/** Writes a result. What an application prints goes to standard error. */
export function print(text: string): void {
  output.write(`${text}\n`)
}

/** Synchronous, so that what is written while the process exits arrives, too. */
function writableTo(descriptor: number): Writable {
  return new Writable({
    write(chunk: Uint8Array, _, done) {
      try {
        for (let at = 0; at < chunk.byteLength;) at += writeSync(descriptor, chunk, at)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
}

/** Writes to standard error, so that standard output has the files alone. */
export function tell(text: string): void {
  console.error(hanging('- ', text, 2, columnsOf(process.stderr, Infinity)))
}

/**
 * Says on standard error why a command ends early, and with `--json` on standard output too, as one object.
 *
 * @param text the message as standard error gets it.
 */
export function tellFailure(message: string, argv: readonly string[], text: string = message): void {
  console.error(text)
  const border = argv.indexOf('--')
  const own = border === -1 ? argv : argv.slice(0, border)
  if (own.includes('--json')) print(JSON.stringify({ ok: false, error: message }))
}
