import { writeSync } from 'node:fs'
import { Writable } from 'node:stream'

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
