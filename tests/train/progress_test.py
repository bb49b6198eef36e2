"""What a run shows of itself."""
import pytest

from drvf_tf.train import progress

_FROM_DATA = {'action_error': 0.6, 'value': 0.8, 'value_lcb': 0.1}
_SCORED = {'score': 12.0, 'returns': [1.0, 2.0]}


@pytest.mark.parametrize('found', [_FROM_DATA, {'action_error': 0.6}, _SCORED])
@pytest.mark.parametrize('regular', [0, 2])
def test_curves_of_a_run_however_short(tmp_path, found, regular):
  rows = [*({'step': 10 * (index + 1), 'final': False, **found}
            for index in range(regular)), {'step': 20, 'final': True, **found}]
  path = tmp_path / 'curve.png'
  progress.draw_curves(rows, {'step': [10.0, 20.0], 'td_loss': [2.0, 1.0]},
                       'a run', path)
  assert path.stat().st_size > 10_000
