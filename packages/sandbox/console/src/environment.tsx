import { useState } from 'preact/hooks'
import { quoted } from '../../src/in-words.ts'
import { environment } from './connection.ts'

export function Environment() {
  const [said, setSaid] = useState('')
  const copy = async (): Promise<void> => {
    try {
      const variables = Object.entries(await environment())
      await navigator.clipboard.writeText(
        variables.map(([name, value]) => `export ${name}=${quoted(value)}`).join('\n'),
      )
      setSaid('Copied, client secrets included.')
    } catch {
      setSaid('Copying failed. The sandbox also printed the variables in its terminal.')
    }
  }
  return (
    <section class="card wide" aria-labelledby="environment">
      <div class="line">
        <h2 id="environment">Environment</h2>
        <button type="button" onClick={() => void copy()}>
          Copy the environment
        </button>
        <span role="status">{said}</span>
        <span class="soft">
          What points a program started in your shell at this sandbox, with its secrets.
        </span>
      </div>
    </section>
  )
}
