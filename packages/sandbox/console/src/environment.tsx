import { useState } from 'preact/hooks'
import { environment } from './connection.ts'

type Variables = Readonly<Record<string, string>>

const quoted = (value: string): string => `'${value.replaceAll("'", String.raw`'\''`)}'`

/** The environment as the tools of different people take it. */
const forms: Readonly<Record<string, (variables: Variables) => string>> = {
  shell: (variables) => lines(variables, (name, value) => `export ${name}=${quoted(value)}`),
  '.env': (variables) => lines(variables, (name, value) => `${name}=${value}`),
  Node: (variables) => lines(variables, (name, value) => `process.env.${name} = ${JSON.stringify(value)}`),
  Python: (variables) =>
    `import os\n${lines(variables, (name, value) => `os.environ[${JSON.stringify(name)}] = ${JSON.stringify(value)}`)}`,
  curl: ({ AUTH_URL, GENERAL_CLIENT_ID, GENERAL_CLIENT_SECRET, NODE_EXTRA_CA_CERTS }) =>
    `curl --cacert ${quoted(NODE_EXTRA_CA_CERTS ?? 'ca.pem')} \\
  ${AUTH_URL}/public/security/v1/token \\
  -d grant_type=client_credentials \\
  -d client_id=${GENERAL_CLIENT_ID} \\
  -d client_secret=${quoted(GENERAL_CLIENT_SECRET ?? '')}`,
}

export function Environment() {
  const [form, setForm] = useState('shell')
  const [said, setSaid] = useState('')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(forms[form]?.(await environment()) ?? '')
      setSaid('Copied, client secrets included.')
    } catch {
      setSaid('It could not be copied. The sandbox also printed it in its terminal.')
    }
  }
  return (
    <section class="card wide" aria-labelledby="environment">
      <h2 id="environment">Environment</h2>
      <p>The variables that point your program at this sandbox, with its client ids and secrets.</p>
      <div class="actions">
        <label>
          for{' '}
          <select value={form} onChange={(event) => setForm(event.currentTarget.value)}>
            {Object.keys(forms).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => void copy()}>
          Copy the environment
        </button>
        <span role="status">{said}</span>
      </div>
    </section>
  )
}

function lines(variables: Variables, line: (name: string, value: string) => string): string {
  return Object.entries(variables)
    .map(([name, value]) => line(name, value))
    .join('\n')
}
