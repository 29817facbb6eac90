import { createFetch } from '@tokenlane/fetch'
import { agents } from './agents.ts'

/** Makes one agent's calls, all at once, and reports each as it ends. Urgent calls go first. */
export async function runAgent(
  name: string,
  calls: readonly { readonly url: string; readonly urgent?: boolean }[],
  ended: (url: string, status: number) => void,
): Promise<void> {
  const fetch = createFetch(agents.get(name))
  await Promise.all(
    calls.map(async ({ url, urgent }) => {
      const priority = urgent === true ? 1 : 0
      const response = await fetch(url, { tokenlane: { priority } })
      await response.arrayBuffer()
      ended(url, response.status)
    }),
  )
}
