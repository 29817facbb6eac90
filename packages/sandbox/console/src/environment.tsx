import { useState } from 'preact/hooks'
import type { IssuerState } from '../../src/index.ts'
import { environment, state } from './connection.ts'

type Variables = Readonly<Record<string, string>>

const quoted = (value: string): string => `'${value.replaceAll("'", String.raw`'\''`)}'`

/** The environment as the tools of different people take it. */
const forms: Readonly<Record<string, (variables: Variables) => string>> = {
  shell: (variables) => lines(variables, (name, value) => `export ${name}=${quoted(value)}`),
  '.env': (variables) => lines(variables, (name, value) => `${name}=${value}`),
  Node: (variables) => lines(variables, (name, value) => `process.env.${name} = ${JSON.stringify(value)}`),
  Python: (variables) =>
    `import os\n${lines(variables, (name, value) => `os.environ[${JSON.stringify(name)}] = ${JSON.stringify(value)}`)}`,
  curl: (variables) => firstToken(variables, state.value?.issuers.general),
}

export function Environment() {
  const [form, setForm] = useState('shell')
  const [said, setSaid] = useState('')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(forms[form]?.(await environment()) ?? '')
      setSaid('Copied, client secrets included.')
    } catch {
      setSaid('Copying failed. The sandbox also printed it in its terminal.')
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

function firstToken(variables: Variables, issuer: IssuerState | undefined): string {
  const {
    GENERAL_CLIENT_ID: id = '',
    GENERAL_CLIENT_SECRET: secret,
    NODE_EXTRA_CA_CERTS: ca = 'ca.pem',
  } = variables
  if (issuer === undefined || secret === undefined) return '# curl cannot sign an assertion'
  const proof =
    issuer.clientAuthentication === 'client_secret_basic'
      ? `-u ${quoted(`${id}:${secret}`)}`
      : `-d client_id=${id} \\\n  -d client_secret=${quoted(secret)}`
  const scope = issuer.scope === '' ? '' : ` \\\n  -d ${quoted(`scope=${issuer.scope}`)}`
  return `curl --tlsv1.2 --cacert ${quoted(ca)} \\
  ${issuer.tokenEndpoint} \\
  -d grant_type=client_credentials \\
  ${proof}${scope}`
}
