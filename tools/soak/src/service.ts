// The service in a process of its own, so that its journal is not in the heap that is measured: the sandbox, behind
// links that fail, and a trap. Takes orders as messages.
import { Random } from '@tokenlane/testing/random'
import { startSandbox, type SandboxControl } from '@tokenlane/sandbox'

import type { EndedCall } from './call.ts'
import { checkJournal } from './journal-check.ts'
import { goodLink, openLink, type LinkFault } from './link.ts'
import { limits } from './policy.ts'
import { openTrap } from './trap.ts'

const seed = Number(process.argv[2])
const sandbox = await startSandbox({
  seed,
  tokenLifetime: 20_000,
  records: 1,
  journalSize: 1_000_000,
  delays: { min: 0, max: 20 },
  ratePolicies: { weblink: { limits } },
})
const { control } = sandbox
const random = new Random(seed + 1)
const behindLink = async (url: string) => {
  const link = await openLink(Number(new URL(url).port), random)
  const near = new URL(url)
  near.port = String(link.port)
  return { link, url: near.href }
}
const general = await behindLink(sandbox.apiUrl)
const weblink = await behindLink(sandbox.weblinkUrl)
const generalIssuer = await behindLink(sandbox.authUrl)
const weblinkIssuer = await behindLink(sandbox.weblinkAuthUrl)
const links = [general, weblink, generalIssuer, weblinkIssuer].map(({ link }) => link)
const trap = await openTrap()
const calls: EndedCall[] = []
const maxima = limits.map(() => 0)

/** Keeps the maxima, which a new policy starts anew. */
function keepMaxima(): void {
  for (const [index, max] of control.counts().apis.weblink.maxInWindow.entries())
    maxima[index] = Math.max(maxima[index] ?? 0, max)
}

const service = {
  addresses: () => ({
    ca: sandbox.ca,
    credentials: sandbox.credentials,
    apis: { general: general.url, weblink: weblink.url },
    issuers: { general: generalIssuer.url, weblink: weblinkIssuer.url },
    outside: [trap.url, new URL('/outside/page', sandbox.weblinkUrl).href],
  }),
  control(name: keyof SandboxControl, args: unknown[]): unknown {
    if (name === 'setRatePolicy') keepMaxima()
    return (control[name] as (...given: unknown[]) => unknown)(...args)
  },
  link(index: number, fault: LinkFault, ms: number): void {
    const link = links[index]!
    link.fault = fault
    setTimeout(() => {
      if (link.fault === fault) link.fault = goodLink
    }, ms).unref()
  },
  reset: (index: number) => links[index]!.reset(),
  ended: (call: EndedCall) => void calls.push(call),
  /** Ends every fault. */
  calm(): void {
    control.restoreApi()
    control.restoreIssuer()
    for (const link of links) link.fault = goodLink
  },
  findings() {
    keepMaxima()
    return {
      journal: checkJournal(control.journal(), calls),
      verdict: control.verdict().findings.map(({ rule, count }) => ({ rule, count })),
      counts: control.counts(),
      maxima,
      trap: { requests: trap.requests, astray: trap.astray },
    }
  },
  async close() {
    for (const link of links) link.close()
    trap.close()
    await sandbox.close()
    setImmediate(() => process.disconnect())
  },
}

export type Service = typeof service

interface Order {
  readonly number: number
  readonly name: keyof Service
  readonly args: unknown[]
}

async function obey({ number, name, args }: Order): Promise<void> {
  const result: unknown = await (service[name] as (...given: unknown[]) => unknown)(...args)
  if (name !== 'ended') process.send?.({ number, result })
}

process.on('message', (order) => void obey(order as Order))
process.send?.({ number: 0 })
