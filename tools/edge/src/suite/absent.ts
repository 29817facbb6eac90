// In the place of what `node:stream`, `node:http` and `node:util` have, and the edge runtime of Next.js lacks. The scenarios
// that need the first two are not played there.
import { chai } from 'vitest'

export const Readable = { from: (): undefined => undefined }

export function createServer(): never {
  throw new Error('the edge runtime of Next.js has no servers')
}

/** Chai's, which prints own properties, as the one of Node does. */
export function inspect(value: unknown, { depth }: { readonly depth?: number } = {}): string {
  return chai.util.inspect(value, false, depth)
}
