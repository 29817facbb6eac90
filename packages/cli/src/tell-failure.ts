import { print } from './print.ts'

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
