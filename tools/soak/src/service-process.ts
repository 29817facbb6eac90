import { fork } from 'node:child_process'
import { once } from 'node:events'

import type { EndedCall } from './call.ts'
import type { Service } from './service.ts'

/** The service in another process. */
export interface ServiceProcess {
  ask<Name extends keyof Service>(
    name: Name,
    ...args: Parameters<Service[Name]>
  ): Promise<Awaited<ReturnType<Service[Name]>>>
  /** Reports a call, without a reply. */
  ended(call: EndedCall): void
  /** Resolves when the process has ended. */
  readonly gone: Promise<unknown>
}

export async function startService(seed: number): Promise<ServiceProcess> {
  const child = fork(new URL('service.ts', import.meta.url), [String(seed)])
  const gone = once(child, 'exit')
  const waiting = new Map<number, (result: unknown) => void>()
  let number = 0
  child.on('message', (reply) => {
    const { number: of, result } = reply as { number: number; result: unknown }
    waiting.get(of)?.(result)
    waiting.delete(of)
  })
  await new Promise<unknown>((resolve) => waiting.set(0, resolve))
  return {
    gone,
    ask(name, ...args) {
      number += 1
      const replied = new Promise<unknown>((resolve) => waiting.set(number, resolve))
      child.send({ number, name, args })
      return replied as never
    },
    ended: (call) => void child.send({ number: -1, name: 'ended', args: [call] }),
  }
}
