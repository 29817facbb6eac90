import { answerTimes, simulateQuota } from './whole-quota.ts'

const limits = [{ quota: 25, window: 1_000 }]
const kinds = Object.keys(answerTimes)
const networks = [
  [5, 15],
  [50, 100],
  [0, 200],
] as const

/** The page that has the table. Comments in it mark its place. */
export const page: URL = new URL('../../../../docs/guide/rate-policy.md', import.meta.url)

/** Returns the text of the page with its table simulated again, which takes 20 s. */
export async function withQuotaTable(text: string): Promise<string> {
  const rows = [
    `| \`accounting\`, network each way | ${kinds.join(' | ')} |`,
    `| --- | ${kinds.map(() => '---').join(' | ')} |`,
  ]
  for (const accounting of ['strict', 'learned'] as const)
    for (const network of networks) {
      const cells: string[] = []
      for (const answerTime of Object.values(answerTimes)) {
        const policy = { limits, accounting }
        const { share, refused } = await simulateQuota({
          seed: 1,
          policy,
          network,
          answerTime,
          seconds: 1_200,
        })
        cells.push(`${share.toFixed(2)} (${refused.toFixed(1)})`)
      }
      rows.push(`| \`${accounting}\`, ${network.join(' to ')} ms | ${cells.join(' | ')} |`)
    }
  return text.replace(
    /(<!-- whole-quota -->\n)[^]*(<!-- \/whole-quota -->)/,
    (_, before: string, after: string) => `${before}\n${rows.join('\n')}\n\n${after}`,
  )
}
