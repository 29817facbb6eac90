import { WrongUsage } from './exit-status.ts'

/** @throws WrongUsage if `url` is not an absolute HTTP or HTTPS URL. */
export function mustBeAbsolute(url: string): void {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new WrongUsage('Pass an absolute URL, such as https://api.example.com/records')
}
