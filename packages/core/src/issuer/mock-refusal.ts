import { printable } from '../foreign-text.ts'
import { quotesAny } from './issuer-words.ts'

/** The codes by which undici's MockAgent and nock say that nothing answers a request. */
const mockCode = /^(?:UND_MOCK_ERR_|ERR_NOCK_)/
const mockText = /^(?:Nock: |\[MSW\] )/

/**
 * Returns the message of a mocking library that refuses a request: no later try can mend that. `undefined` for any other
 * error.
 */
export function mockRefusal(error: unknown, secrets: readonly string[]): string | undefined {
  let inner: unknown = error
  for (let depth = 0; depth < 8 && typeof inner === 'object' && inner !== null; depth += 1) {
    const { code, name, message, cause } = inner as Record<string, unknown>
    const text = String(message)
    if (mockCode.test(String(code)) || name === 'NetConnectNotAllowedError' || mockText.test(text)) {
      // what follows is the request, with its headers and its body
      const [said = ''] = text.split(/ (?=for (?:body|headers) )|[{\n]/)
      return quotesAny(said, secrets) ? '' : `, "${printable(said)}"`
    }
    inner = cause
  }
  return undefined
}
