from . import datasets as datasets
from . import images as images
from ._version import __version__ as __version__
from .auditing import (
    Audit as Audit,
)
from .auditing import (
    audit as audit,
)
from .datasets import (
    load_dataset as load_dataset,
)
from .explorer import (
    Exploration as Exploration,
)
from .explorer import (
    explore as explore,
)
from .graphs import (
    Graph as Graph,
)
from .graphs import (
    GraphDatabase as GraphDatabase,
)
from .graphs import (
    Grid as Grid,
)
from .graphs import (
    GridDatabase as GridDatabase,
)
from .graphs import (
    LabelDistributions as LabelDistributions,
)
from .graphs import (
    check_graphs as check_graphs,
)
from .graphs import (
    circular_neighborhood as circular_neighborhood,
)
from .graphs import (
    curvature as curvature,
)
from .graphs import (
    flip_labels as flip_labels,
)
from .graphs import (
    from_adjacency as from_adjacency,
)
from .graphs import (
    from_grakel as from_grakel,
)
from .graphs import (
    from_igraph as from_igraph,
)
from .graphs import (
    from_networkx as from_networkx,
)
from .graphs import (
    from_pandas as from_pandas,
)
from .graphs import (
    from_points as from_points,
)
from .graphs import (
    from_pyg as from_pyg,
)
from .graphs import (
    from_rdkit as from_rdkit,
)
from .graphs import (
    from_smiles as from_smiles,
)
from .graphs import (
    from_triples as from_triples,
)
from .graphs import (
    hide_labels as hide_labels,
)
from .graphs import (
    knn_graph as knn_graph,
)
from .graphs import (
    to_grakel as to_grakel,
)
from .graphs import (
    to_igraph as to_igraph,
)
from .graphs import (
    to_networkx as to_networkx,
)
from .graphs import (
    to_pandas as to_pandas,
)
from .graphs import (
    to_pyg as to_pyg,
)
from .kernels import (
    P2K as P2K,
)
from .kernels import (
    AttributeKernel as AttributeKernel,
)
from .kernels import (
    GraphHopper as GraphHopper,
)
from .kernels import (
    LabelHistogram as LabelHistogram,
)
from .kernels import (
    LabelHistogramFeatures as LabelHistogramFeatures,
)
from .kernels import (
    PropagationFeatures as PropagationFeatures,
)
from .kernels import (
    PropagationKernel as PropagationKernel,
)
from .kernels import (
    ShortestPath as ShortestPath,
)
from .kernels import (
    ShortestPathFeatures as ShortestPathFeatures,
)
from .kernels import (
    SubgraphMatching as SubgraphMatching,
)
from .kernels import (
    SumKernel as SumKernel,
)
from .kernels import (
    WeisfeilerLehman as WeisfeilerLehman,
)
from .kernels import (
    WeisfeilerLehmanFeatures as WeisfeilerLehmanFeatures,
)
from .learn import (
    Applicability as Applicability,
)
from .learn import (
    CategoryPrior as CategoryPrior,
)
from .learn import (
    Counterfactuals as Counterfactuals,
)
from .learn import (
    Evaluation as Evaluation,
)
from .learn import (
    Explanation as Explanation,
)
from .learn import (
    ForeignGraphsWarning as ForeignGraphsWarning,
)
from .learn import (
    GraphIndex as GraphIndex,
)
from .learn import (
    LinearModel as LinearModel,
)
from .learn import (
    NoveltyDetector as NoveltyDetector,
)
from .learn import (
    NoveltyExplanation as NoveltyExplanation,
)
from .learn import (
    PairedTest as PairedTest,
)
from .learn import (
    PropagationClassifier as PropagationClassifier,
)
from .learn import (
    PropagationRegressor as PropagationRegressor,
)
from .learn import (
    Similarity as Similarity,
)
from .learn import (
    evaluate as evaluate,
)
from .learn import (
    similar_because as similar_because,
)
from .molecules import (
    MoleculesToGraphs as MoleculesToGraphs,
)
from .molecules import (
    draw_molecule as draw_molecule,
)
from .molecules import (
    draw_similarity as draw_similarity,
)
from .molecules import (
    scaffolds as scaffolds,
)
from .plotting import (
    plot_embedding as plot_embedding,
)
from .plotting import (
    plot_evaluation as plot_evaluation,
)
from .plotting import (
    plot_explanation as plot_explanation,
)
from .plotting import (
    plot_graph as plot_graph,
)
from .plotting import (
    plot_kernel as plot_kernel,
)
from .plotting import (
    plot_similarity as plot_similarity,
)
from .propagation import (
    AbsorbingWalk as AbsorbingWalk,
)
from .propagation import (
    AnisotropicDiffusion as AnisotropicDiffusion,
)
from .propagation import (
    BeliefPropagation as BeliefPropagation,
)
from .propagation import (
    Convolution as Convolution,
)
from .propagation import (
    Diffusion as Diffusion,
)
from .propagation import (
    GaussianMixtures as GaussianMixtures,
)
from .propagation import (
    LabelImputer as LabelImputer,
)
from .propagation import (
    LabelPropagation as LabelPropagation,
)
from .propagation import (
    LabelSpreading as LabelSpreading,
)
from .propagation import (
    PartialAbsorption as PartialAbsorption,
)
from .propagation import (
    PropagatedAttributes as PropagatedAttributes,
)
from .propagation import (
    PropagationScheme as PropagationScheme,
)
from .propagation import (
    check_scheme as check_scheme,
)
from .propagation import (
    transition_matrix as transition_matrix,
)
from .scale import (
    FeatureFolder as FeatureFolder,
)
from .scale import (
    PartsFailedError as PartsFailedError,
)
from .scale import (
    Plan as Plan,
)
from .scale import (
    featurize as featurize,
)
from .scale import (
    open_features as open_features,
)
from .scale import (
    partition as partition,
)
from .scale import (
    verify as verify,
)
from .storage import (
    ModelFileError as ModelFileError,
)
from .storage import (
    load_model as load_model,
)
from .storage import (
    save_model as save_model,
)
