'use strict';

const units = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, ms: 1e-3, 'µs': 1e-6 };

// amount is the number that a cell begins with, by its unit; 0 of an empty cell, NaN of a text.
function amount(text) {
  const [, digits, unit] = /^([-+\d.,]+(?:e[-+]?\d+)?)? ?(k|M|G|T|[KMG]iB|ms|µs|s|B|%|to \d+)?$/.exec(text.trim()) ?? ['', '?'];
  return Number((digits ?? '').replaceAll(',', '')) * (units[unit] ?? 1);
}

// A click on a column's title sorts the rows: numbers from the greatest, texts from A, and the other way next
// time. Empty cells count as 0.
for (const table of document.querySelectorAll('table.sorts')) {
  const titles = [...table.tHead.rows[0].cells];
  titles.forEach((title, column) => title.querySelector('button')?.addEventListener('click', () => {
    const rows = [...table.tBodies[0].rows];
    const text = row => row.cells[column].textContent;
    const number = row => amount(text(row));
    const numbers = rows.every(row => !Number.isNaN(number(row)));
    const before = title.getAttribute('aria-sort');
    const up = before ? before === 'descending' : !numbers;
    const compare = (a, b) => numbers ? number(a) - number(b) : text(a).localeCompare(text(b));
    rows.sort((a, b) => up ? compare(a, b) : compare(b, a));
    titles.forEach(other => other.removeAttribute('aria-sort'));
    title.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    table.tBodies[0].append(...rows);
  }));
}

// element makes an element with a class and a text.
function element(name, of, text) {
  const e = document.createElement(name);
  if (of) e.className = of;
  if (text) e.textContent = text;
  return e;
}

// A click on a cell of a confusion matrix lists its documents.
for (const matrix of document.querySelectorAll('.matrix')) {
  const { names, documents } = JSON.parse(matrix.querySelector('script').textContent);
  const panel = matrix.querySelector('.cell');
  const table = matrix.querySelector('table');
  let pressed = null;
  for (const button of table.querySelectorAll('td :is(button, span)')) {
    const cell = button.parentElement;
    const is = cell.parentElement.sectionRowIndex, given = cell.cellIndex - 2;
    const what = is === given ? `${names[is]}, predicted rightly` : `${names[is]} predicted as ${names[given]}`;
    button.title = `${what}: ${button.textContent}`;
    if (!panel) continue;
    button.setAttribute('aria-label', button.title);
    button.addEventListener('click', () => {
      if (pressed) pressed.removeAttribute('aria-pressed');
      (pressed = button).setAttribute('aria-pressed', 'true');
      const own = documents.filter(d => d.c === is && d.g === given);
      const list = element('ol');
      list.tabIndex = 0;
      for (const d of own) {
        const item = element('li');
        item.append(element('p', 'note', d.d + (d.n ? ', ' + d.n : '')), element('p', '', d.t));
        list.append(item);
      }
      const count = Number(button.textContent), part = own.length < count ? `, ${own.length} of them below` : '';
      panel.replaceChildren(element('h3', '', what), element('p', 'note', `${count} document${count > 1 ? 's' : ''}${part}`),
        list);
      panel.scrollIntoView({ block: 'nearest' });
    });
  }
}
