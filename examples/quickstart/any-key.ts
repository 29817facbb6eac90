import { once } from 'node:events'

/** Returns whether somebody sits at a terminal and can press a key. */
export function canPressKey(): boolean {
  const { CI = 'false' } = process.env
  return process.stdin.isTTY && process.stdout.isTTY && (CI === '' || CI === 'false')
}

/** Waits for a key on the terminal; Ctrl-C is one, too. */
export async function anyKey(): Promise<void> {
  process.stdin.setRawMode(true)
  await once(process.stdin, 'data')
  process.stdin.setRawMode(false).pause()
}
