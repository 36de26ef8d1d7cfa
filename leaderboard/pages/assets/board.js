// Sorts the rows that are there as the server would; the server then only hears how, for the controls and later filters.
const sortBy = (key, ascending) => {
  const table = element.querySelector('table[data-places]');
  const places = table ? JSON.parse(table.dataset.places) : {};
  const values = places[key], names = places.system;
  if (!values) return;
  const sign = ascending ? 1 : -1;
  const order = (a, b) => (values[a] === null) - (values[b] === null)
    || sign * (values[a] - values[b]) || names[a] - names[b] || a - b;
  for (const body of table.tBodies) {
    const rows = [...body.querySelectorAll('tr[data-at]')];
    const sorted = [...rows].sort((one, other) => order(+one.dataset.at, +other.dataset.at));
    if (sorted.some((row, at) => row !== rows[at])) body.append(...sorted);
  }
  for (const heading of table.tHead.querySelectorAll('th[aria-sort]')) {
    const button = heading.querySelector('[data-sort]');
    const here = button.dataset.sort === key;
    heading.setAttribute('aria-sort', here ? (ascending ? 'ascending' : 'descending') : 'none');
    button.querySelector('.arrow').textContent = here ? (ascending ? '▲' : '▼') : '';
  }
  const shown = element.querySelector('[data-query]');
  shown.dataset.query = sortedQuery(shown.dataset.query, key, ascending, table.dataset.rankBy);
  history.replaceState(null, '', location.pathname + shown.dataset.query);
};
// What the board does by itself is left out, as the server leaves it out.
const sortedQuery = (query, key, ascending, rankBy) => {
  const usual = rankBy ? key === rankBy : key === 'system' && ascending;
  const parts = query.slice(1).split('&').filter(part => part && !/^(sort|ascending)=/.test(part));
  const sort = usual ? [] : ['sort=' + encodeURIComponent(key)];
  if (ascending && (rankBy || !usual)) sort.push('ascending=1');
  parts.splice(parts.filter(part => /^(benchmark|q)=/.test(part)).length, 0, ...sort);
  return '?' + parts.join('&');
};
element.addEventListener('click', event => {
  const button = event.target.closest('[data-sort]');
  if (!button) return;
  const key = button.dataset.sort, now = button.closest('th').getAttribute('aria-sort');
  const ascending = now === 'none' ? key === 'system' : now === 'descending';
  sortBy(key, ascending);
  requestAnimationFrame(() => setTimeout(() => trigger('click', {sort: key, ascending})));
});
// The answer to a filter may have come in between, in the order from before the click.
watch('value', () => {
  const kept = /^<!--kept (\S+) ([01])-->$/.exec(props.value ?? '');
  if (kept) sortBy(kept[1], kept[2] === '1');
});
