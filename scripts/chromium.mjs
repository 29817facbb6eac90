// The browser that a test needs, from Debian's package, where this machine has none and lets us install it.
import { spawn, spawnSync } from 'node:child_process'

const works = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0

/** Begins at once, beside other work, and ends whatever comes of it: the test itself tells what is missing. */
export async function installChromium() {
  if (works(process.env.CHROMIUM_PATH ?? 'chromium', '--version') || !works('apt-get', '--version')) return
  const asRoot = process.getuid() === 0 ? '' : 'sudo -n '
  if (asRoot !== '' && !works('sudo', '-n', 'true')) return
  console.log('chromium: installing it from Debian')
  // without a network this is to end in seconds
  const apt = 'apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o DPkg::Lock::Timeout=60'
  const install = `env DEBIAN_FRONTEND=noninteractive ${apt} install -y --no-install-recommends chromium`
  const script = `${asRoot}${apt} update; ${asRoot}${install}`
  const installation = spawn('sh', ['-c', script], { stdio: 'ignore' })
  await new Promise((resolve) => installation.once('exit', resolve))
}
