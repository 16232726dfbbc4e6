/** Shows the page that the address names. */

export function Page() {
  return <main>ASARA</main>;
}
