// Servers that are not written in JavaScript run in a process of their own, and a listener in this process forwards to it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type IncomingMessage, request, type RequestListener, type ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { lifetime, type Registered, type Run } from './checks.ts'

/**
 * Starts a program, and returns the first line of its output that matches `ready`.
 *
 * @param packages the Debian packages that it needs.
 * @param stopped ends the program.
 */
export async function startProgram(
  [command, ...args]: readonly [string, ...string[]],
  { packages, ready, stopped }: { packages: string; ready: RegExp; stopped: AbortSignal },
): Promise<RegExpExecArray> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: stopped,
    killSignal: 'SIGKILL',
  })
  let said = 'it ended'
  createInterface(child.stderr).on('line', (line) => (said = line))
  const end = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('close', () => resolve(said))
  })
  const tooLate = setTimeout(() => child.kill('SIGKILL'), 60_000)
  try {
    for await (const line of createInterface(child.stdout)) {
      const match = ready.exec(line)
      if (match !== null) return match
    }
  } finally {
    clearTimeout(tooLate)
    child.stdout.resume()
  }
  throw new Error(
    `${command} does not start: ${await end} (it needs the Debian packages ${packages}, which \`npm run test:all\` installs where it may use apt-get)`,
  )
}

/** Starts a program in Python, which prints its port and takes what is registered at `/client`. */
export async function startPython(
  program: string,
  packages: string,
  registered: Registered,
  { issuer, stopped }: Run,
): Promise<RequestListener> {
  // the first Python on the PATH may be one without Debian's packages
  const python = '/usr/bin/python3'
  const file = fileURLToPath(new URL(program, import.meta.url))
  const command = [python, '-I', file, issuer, String(lifetime)] as const
  const [port] = await startProgram(command, { packages, ready: /^\d+$/, stopped })
  return forwarding(Number(port), registered, () =>
    fetch(`http://127.0.0.1:${port}/client`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(registered),
    }),
  )
}

/** Forwards each request to a server on loopback, which knows by then what a test has `registered`. */
export function forwarding(
  port: number,
  registered: Registered,
  register: () => Promise<unknown>,
): RequestListener {
  let known = ''
  let registration: Promise<unknown> = Promise.resolve()
  const forward = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    const wanted = JSON.stringify(registered)
    if (wanted !== known) registration = registration.then(register)
    known = wanted
    await registration
    const headers = { ...asked.headers, connection: 'close', 'x-forwarded-proto': 'https' }
    const { method, url: path } = asked
    const forwarded = request({ host: '127.0.0.1', port, path, method, headers, agent: false })
    asked.pipe(forwarded)
    const [answer] = (await once(forwarded, 'response')) as [IncomingMessage]
    const { connection: _, ...answered } = answer.headers
    answer.pipe(response.writeHead(answer.statusCode ?? 500, answered))
  }
  return (asked, response) => void forward(asked, response).catch(() => response.destroy())
}
