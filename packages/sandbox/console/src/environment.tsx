import { useState } from 'preact/hooks'
import { environment, state } from './connection.ts'
import { forms } from './environment-forms.ts'

export function Environment() {
  const [form, setForm] = useState('shell')
  const [said, setSaid] = useState('')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(
        forms[form]?.(await environment(), state.value?.issuers.general) ?? '',
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
        <label>
          for{' '}
          <select
            value={form}
            onChange={(event) => {
              setForm(event.currentTarget.value)
              setSaid('')
            }}
          >
            {Object.keys(forms).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => void copy()}>
          Copy the environment
        </button>
        <span role="status">{said}</span>
        <span class="soft">The variables that point your program at this sandbox, with its secrets.</span>
      </div>
    </section>
  )
}
