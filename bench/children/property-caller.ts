// Makes calls of one client with ever less of Tokenlane, all in one process: two processes that do the same differ by more
// than most properties cost, such as by how V8 has compiled and placed their code.
import type { Client } from './caller.ts'
import type { ServicePlace } from './http-service.ts'
import { measure, type Round } from '../support/round.ts'
import { inCase, loadCases, type TakenOut } from '../support/taken-out.ts'
import type { CallOnce, settingAt, Setting, VariantName, Variants } from '../support/variants.ts'

export interface PropertyOrder {
  readonly client: Client
  readonly service: ServicePlace
  readonly cases: readonly {
    readonly variant: VariantName
    /** Left out of the packages. */
    readonly without: readonly TakenOut[]
  }[]
}

export interface PropertyTask extends Round {
  /** Of the case. */
  readonly place: number
}

const order = await new Promise<PropertyOrder>((resolve) => {
  process.once('message', (message) => resolve(message as PropertyOrder))
})
loadCases(order.cases.map(({ without }) => without))

const calls: CallOnce[] = []
for (const [place, { variant }] of order.cases.entries()) {
  const { settingAt: prepare } = (await import(inCase('../support/variants.ts', place))) as {
    readonly settingAt: typeof settingAt
  }
  const [variantsOf] = Object.values(
    (await import(inCase(`../callers/${order.client}.ts`, place))) as Record<
      string,
      (setting: Setting) => Variants
    >,
  )
  const call = variantsOf?.(await prepare(order.service.url))[variant]
  if (call === undefined) throw new Error(`Cannot measure: ${order.client} has no ${variant}`)
  calls.push(call)
}
process.on('message', ({ place, ...round }: PropertyTask) => {
  void measure(calls[place] as CallOnce, round).then((figure) => process.send?.(figure))
})
process.send?.('ready')
process.on('disconnect', () => process.exit())
