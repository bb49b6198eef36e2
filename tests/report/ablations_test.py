"""App. E: which rows are compared, and that pictures show their numbers."""
import gin
import numpy as np
import pytest

from drvf_tf.report import ablation_figures, ablations, comparison, gathering
from drvf_tf.runs import settings
from drvf_tf.train import methods
from tests.report import made_up_ablations


def _find(folder):
  rows = comparison.rows(gathering.gather([str(folder)])[0])
  return {one.kind.key: one for one in ablations.find(rows)}


def _labels(ablation):
  return [(point.label, point.row.method) for point in ablation.points]


def test_every_ablation_of_the_paper_is_found(tmp_path):
  made_up_ablations.write(tmp_path, seeds=1)
  found = _find(tmp_path)
  assert {key: _labels(one) for key, one in found.items()} == {
      'M': [('M = 2', 'DRVF, M=2'), ('M = 3', 'DRVF, M=3'), ('M = 5', 'DRVF')],
      'n': [('n = 2', 'DRVF, n=2'), ('n = 10', 'DRVF')],
      'K': [('K = 1', 'DRVF, K=1'), ('K = 10', 'DRVF, K=10')],
      'loss': [('TD + KL + repulsion', 'DRVF'),
               ('no repulsion', 'DRVF, no repulsion'),
               ('no KL', 'DRVF, no KL'), ('TD only', 'DRVF, TD only')],
      'ood': [("the policy's actions", 'DRVF'),
              ('uniform actions', 'DRVF, uniform OOD')],
      'dropout': [('DRVF', 'DRVF'), ('dropout', 'Dropout ensemble'),
                  ('dropout + diversity', 'Dropout + diversity'),
                  ('dropout + repulsion', 'Dropout + repulsion')]}
  assert found['M'].method == found['K'].method == 'DRVF'


@pytest.mark.parametrize('names', [
    ('DRVF',), ('DRVF', 'Dropout ensemble'), ('DRVF, M=2', 'DRVF, n=2'),
    ('DRVF, TD only', 'DRVF, uniform OOD')])
def test_one_variant_alone_is_no_ablation(tmp_path, names):
  made_up_ablations.write(tmp_path, names, seeds=1)
  assert not _find(tmp_path)


def test_other_data_are_not_compared(tmp_path):
  made_up_ablations.write(tmp_path, ('DRVF', 'DRVF, n=2'), seeds=1)
  path = tmp_path / '1_0' / 'run.json'
  path.write_text(path.read_text().replace('abcdef0123', 'beef'))
  assert not _find(tmp_path)


@pytest.mark.parametrize('key, value', [
    ('M', 'EnsembleCriticNetwork.num_members=3'),
    ('n', 'DRVFAgent.num_samples=2'), ('K', 'DRVFAgent.num_ood_actions=1'),
    ('S', 'DRVFAgent.ood_batch_size=4'),
    ('loss', 'gin/ablations/no_repulsion.gin'),
    ('loss', 'gin/ablations/no_kl.gin'), ('loss', 'gin/ablations/td_only.gin'),
    ('ood', 'gin/ablations/policy_ood.gin')])
def test_the_ablations_of_app_e_vary_what_their_kind_says(key, value):
  small = ['EnsembleCriticNetwork.hidden_units=(8,)',
           'tanh_gaussian_actor.hidden_units=(8,)']

  def operative(*parts):
    files = [part for part in parts if part.endswith('.gin')]
    bindings = [part for part in parts if part not in files]
    methods.agent_of(['gin/quickstart.gin', *files], [*small, *bindings], 4, 2)
    return settings.read(gin.operative_config_str())

  plain, varied = operative(), operative(value)
  kind = next(kind for kind in ablations.KINDS if kind.key == key)
  assert kind.value(plain)[0] != kind.value(varied)[0]
  differ = {name for name in {*plain, *varied}
            if plain.get(name) != varied.get(name)} - {'train_eval.method'}
  assert differ and all(kind.varied.match(name) for name in differ)


@pytest.mark.parametrize('key', ['M', 'loss', 'dropout'])
def test_pictures_show_the_raw_returns(tmp_path, key):
  scores = made_up_ablations.write(tmp_path)
  ablation = _find(tmp_path)[key]
  left, right = ablation_figures.draw(ablation).axes
  for index, point in enumerate(ablation.points):
    mine = scores[point.row.method]
    bar = left.containers[index]
    assert bar.lines[0].get_ydata() == pytest.approx([np.mean(mine)])
    ends = bar.lines[2][0].get_segments()[0][:, 1]
    assert np.ptp(ends) / 2 == pytest.approx(abs(mine[0] - mine[1]) / 2 ** 0.5)
  dots = [list(line.get_ydata()) for line in left.lines
          if line.get_color() == 'black']
  assert [sorted(pair) for pair in dots] == [
      pytest.approx(sorted(scores[point.row.method]))
      for point in ablation.points]
  assert 'score' in left.get_ylabel()
  assert right.get_xlabel() == 'train steps'


def test_no_curves_without_evaluations_on_the_way(tmp_path):
  made_up_ablations.write(tmp_path, ('DRVF', 'DRVF, n=2'), seeds=1)
  for path in tmp_path.glob('*/evaluations.jsonl'):
    path.write_text(path.read_text().splitlines()[-1] + '\n')
  assert len(ablation_figures.draw(_find(tmp_path)['n']).axes) == 1
