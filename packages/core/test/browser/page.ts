import { attempt } from './attempt.ts'

declare const Worker: new (
  url: string,
  options: { type: 'module' },
) => { addEventListener(type: 'message', listener: (message: { data: string }) => void): void }

const page = await attempt()
new Worker('/worker.js', { type: 'module' }).addEventListener('message', ({ data: worker }) => {
  void fetch('/told', { method: 'POST', body: JSON.stringify({ page, worker }) })
})
